import { SlotReuseMap } from "../base/data-structures/index.ts";
import type { TaskScope } from "../engine/index.ts";
import type { MemoryScopeData, MemoryTaskLog } from "./memory-task-log.ts";
import { getScopeKey, isSameScope } from "./task-owner-scope-key.ts";

/** The scopes of a memory store that have tasks. */
export class MemoryScopeRegistry {
  readonly #scopes = new Map<string, MemoryScopeData>();
  /** The data of the most recent scope, because consecutive requests often come from the same caller. */
  #lastUsedScope: MemoryScopeData | undefined;

  find(scope: TaskScope): MemoryScopeData | undefined {
    const lastUsed = this.#lastUsedScope;
    if (lastUsed && isSameScope(lastUsed.scope, scope)) return lastUsed;
    const scopeData = this.#scopes.get(getScopeKey(scope));
    if (scopeData) this.#lastUsedScope = scopeData;
    return scopeData;
  }

  findLog(scope: TaskScope, taskId: string): MemoryTaskLog | undefined {
    return this.find(scope)?.logs.get(taskId);
  }

  /** Returns the data of a scope. The registry keeps new data only after the first call of `addLog`. */
  findOrCreate(scope: TaskScope): MemoryScopeData {
    return (
      this.find(scope) ?? {
        scope,
        key: getScopeKey(scope),
        logs: new SlotReuseMap(),
        messages: new SlotReuseMap(),
        listIndex: undefined,
        owingWebhooks: 0,
      }
    );
  }

  addLog(log: MemoryTaskLog): void {
    const { scopeData } = log;
    scopeData.logs.insertNew(log.taskId, log);
    scopeData.listIndex?.add(log);
    if (scopeData.logs.size === 1) this.#scopes.set(scopeData.key, scopeData);
  }

  /** Removes a task and its messages. A scope without tasks is removed, too. */
  removeLog(log: MemoryTaskLog): void {
    const { scopeData, taskId, messageIds } = log;
    scopeData.logs.delete(taskId);
    scopeData.listIndex?.remove(log);
    for (const messageId of messageIds) scopeData.messages.delete(messageId);
    if (scopeData.logs.size > 0) return;
    this.#scopes.delete(scopeData.key);
    this.#lastUsedScope = undefined;
  }

  listScopes(): Iterable<MemoryScopeData> {
    return this.#scopes.values();
  }

  /** Yields the tasks of all scopes. */
  *listLogs(): Generator<MemoryTaskLog, void, undefined> {
    for (const { logs } of this.#scopes.values()) yield* logs.values();
  }
}
