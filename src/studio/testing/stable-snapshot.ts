import { isObject } from "../../protocol/index.ts";

/** The members of A2A objects that contain an id, and the names of their ids in snapshots. */
const ID_NAMES: ReadonlyMap<string, string> = new Map([
  ["taskId", "task"],
  ["contextId", "context"],
  ["messageId", "message"],
  ["artifactId", "artifact"],
]);

/**
 * Returns a copy of a value in which each id has a stable name, such as `task-1`, and in which times are left out. Use
 * it for snapshots of tasks, turns, and events. Ids that contain no digit are kept. The names do not depend on the order
 * of members.
 */
export function toStableSnapshot(value: unknown): unknown {
  const names = new Map<string, string>();
  const counts = new Map<string, number>();
  const nameIds = (one: unknown): void => {
    if (Array.isArray(one)) return one.forEach(nameIds);
    if (!isObject(one)) return;
    for (const [member, child] of Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      const kind = ID_NAMES.get(member) ?? (member === "id" && "contextId" in one ? "task" : undefined);
      if (kind === undefined || typeof child !== "string") nameIds(child);
      else if (/\d/.test(child) && !names.has(child)) {
        const count = (counts.get(kind) ?? 0) + 1;
        counts.set(kind, count);
        names.set(child, `${kind}-${count}`);
      }
    }
  };
  const rename = (one: unknown): unknown => {
    if (typeof one === "string") return names.get(one) ?? one;
    if (Array.isArray(one)) return one.map(rename);
    if (!isObject(one)) return one;
    const kept = Object.entries(one).filter(([member]) => member !== "timestamp" && member !== "durationMs");
    return Object.fromEntries(kept.map(([member, child]) => [member, rename(child)]));
  };
  nameIds(value);
  return rename(value);
}
