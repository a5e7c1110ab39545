import torch
import torch.distributed as dist


class Evaluator:
    def __init__(self, scores):
        self.scores = scores

    def best(self):
        return max(self.scores.items(), key=lambda item: item[1])[0]

    def publish(self):
        try:
            name = self.best()
        except ValueError:
            name = "none"
        else:
            print("best is", name)
            dist.barrier()
        return name


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    evaluator = Evaluator({"bleu": 0.3, "rouge": 0.4} if rank != 2 else {})
    evaluator.publish()
    total = torch.ones(1)
    dist.all_reduce(total)


if __name__ == "__main__":
    main()
