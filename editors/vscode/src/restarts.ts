// How often a server that ends by itself is started again: at once, then after longer and longer waits, then not at all.
export class Restarts {
  private ends: number[] = [];

  constructor(
    private readonly waits = [0, 1000, 5000],
    private readonly window = 3 * 60_000,
  ) {}

  // Milliseconds to wait before the next start; undefined: give up.
  next(now = Date.now()): number | undefined {
    this.ends = this.ends.filter((end) => now - end < this.window);
    const wait = this.waits[this.ends.length];
    this.ends.push(now);
    return wait;
  }

  forget(): void {
    this.ends = [];
  }
}
