import type { NodeHint } from "../../cluster/index.ts";

/** Maximum size of a payload in bytes. PostgreSQL accepts less than 8,000 bytes. */
const MAX_PAYLOAD_BYTES = 7900;
/** Payload of the hint `any`. */
const ANY_PAYLOAD = "*";
const TASK_HINT_KINDS = ["events", "request", "answer"] as const;

type TaskHintKind = (typeof TASK_HINT_KINDS)[number];

/** Hints that wait for the next notification, without repetitions. */
export class PendingHints {
  readonly #taskIds: Record<TaskHintKind, Set<string>> = {
    events: new Set(),
    request: new Set(),
    answer: new Set(),
  };
  #hasWork = false;
  #hasUnknownChanges = false;

  add(hint: NodeHint): void {
    if (hint.kind === "work") this.#hasWork = true;
    else if (hint.kind === "any") this.#hasUnknownChanges = true;
    else for (const id of hint.taskIds) this.#taskIds[hint.kind].add(id);
  }

  get isEmpty(): boolean {
    return (
      !this.#hasWork &&
      !this.#hasUnknownChanges &&
      TASK_HINT_KINDS.every((kind) => this.#taskIds[kind].size === 0)
    );
  }

  /** Removes all hints, and returns them as one payload. Too many task ids become the hint `any`. */
  takePayload(): string {
    const payload = this.#hasUnknownChanges ? ANY_PAYLOAD : this.#encodeMembers();
    for (const kind of TASK_HINT_KINDS) this.#taskIds[kind].clear();
    this.#hasWork = this.#hasUnknownChanges = false;
    return Buffer.byteLength(payload) <= MAX_PAYLOAD_BYTES ? payload : ANY_PAYLOAD;
  }

  #encodeMembers(): string {
    const members = TASK_HINT_KINDS.filter((kind) => this.#taskIds[kind].size > 0).map((kind) => [
      kind,
      [...this.#taskIds[kind]],
    ]);
    return JSON.stringify(Object.fromEntries([...members, ...(this.#hasWork ? [["work", []]] : [])]));
  }
}

/** Decodes the payload of another node. An unknown payload, for example of a later version, is the hint `any`. */
export function decodeHints(payload: string): NodeHint[] {
  try {
    const members = Object.entries(JSON.parse(payload) as Record<string, unknown>);
    return members.map(([kind, taskIds]) => toHint(kind, taskIds));
  } catch {
    return [{ kind: "any" }];
  }
}

function toHint(kind: string, taskIds: unknown): NodeHint {
  if (kind === "work") return { kind };
  const taskHintKind = TASK_HINT_KINDS.find((known) => known === kind);
  const hasTexts = Array.isArray(taskIds) && taskIds.every((id) => typeof id === "string");
  return taskHintKind && hasTexts ? { kind: taskHintKind, taskIds } : { kind: "any" };
}
