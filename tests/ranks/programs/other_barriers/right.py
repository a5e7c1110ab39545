"""Nothing here is a process group: threads have barriers, matrices and results have ranks."""
import threading

import torch


class Radio:
    def broadcast(self, text):
        return text.upper()

    def barrier(self):
        return None


def best(results):
    for rank, result in enumerate(sorted(results, reverse=True)):
        if rank == 0:
            Radio().broadcast(f"winner {result}")
            Radio().barrier()
    return max(results)


def solve(matrix):
    rank = torch.linalg.matrix_rank(matrix)
    if rank == 0:
        return None
    meeting = threading.Barrier(2)
    others = [threading.Thread(target=meeting.wait) for _ in range(int(rank) - 1)]
    for other in others:
        other.start()
    if rank == 2:
        meeting.wait()
    for other in others:
        other.join()
    return matrix.inverse()


if __name__ == "__main__":
    print(best([0.1, 0.7, 0.3]), solve(torch.eye(2)))
