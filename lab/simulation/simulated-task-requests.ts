import type { LeaseRow } from "./simulated-database.ts";

interface RequestRow {
  readonly id: string;
  readonly kind: string;
  readonly payload: string;
  readonly lease: LeaseRow;
  readonly expiresAt: number;
  takenEpoch: number | undefined;
  answer: string | undefined;
}

/** The table `task_request` of the simulated database. */
export class SimulatedTaskRequests {
  readonly #rows = new Map<string, RequestRow>();
  readonly #getTime: () => number;
  readonly #findLease: (taskKey: string) => LeaseRow | undefined;

  constructor(getTime: () => number, findLease: (taskKey: string) => LeaseRow | undefined) {
    this.#getTime = getTime;
    this.#findLease = findLease;
  }

  insert(id: string, taskKey: string, kind: string, payload: string, timeoutMs: number): boolean {
    const lease = this.#findLease(taskKey);
    if (!lease || (!lease.isRunning && lease.queuedPositions.size === 0)) return false;
    const expiresAt = this.#getTime() + timeoutMs;
    this.#rows.set(id, { id, kind, payload, lease, expiresAt, takenEpoch: undefined, answer: undefined });
    return true;
  }

  /** Takes the unanswered requests for the tasks whose lease the node holds. */
  take(node: string): RequestRow[] {
    const taken = this.#listOpen().filter(
      ({ lease, takenEpoch }) => lease.node === node && takenEpoch !== lease.epoch,
    );
    for (const row of taken) row.takenEpoch = row.lease.epoch;
    return taken;
  }

  giveBack(id: string): void {
    const row = this.#rows.get(id);
    if (row) row.takenEpoch = undefined;
  }

  answer(id: string, answer: string): void {
    const row = this.#rows.get(id);
    if (row) row.answer = answer;
  }

  takeAnswers(ids: readonly string[]): { readonly id: string; readonly answer: string }[] {
    return ids.flatMap((id) => {
      const answer = this.#rows.get(id)?.answer;
      return answer !== undefined && this.#rows.delete(id) ? [{ id, answer }] : [];
    });
  }

  delete(id: string): void {
    this.#rows.delete(id);
  }

  deleteExpired(): void {
    for (const { id, expiresAt } of this.#rows.values())
      if (expiresAt < this.#getTime()) this.#rows.delete(id);
  }

  isCancelRequested(lease: LeaseRow): boolean {
    return this.#listOpen().some((row) => row.lease === lease && row.kind === "cancel");
  }

  #listOpen(): RequestRow[] {
    const now = this.#getTime();
    return [...this.#rows.values()].filter(
      ({ answer, expiresAt }) => answer === undefined && expiresAt > now,
    );
  }
}
