import type { SqlDatabase, SqlStatement } from "./sql-database.ts";
import type { TaskScope } from "../../engine/index.ts";
import { getScopeKey, isSameScope } from "../task-owner-scope-key.ts";
import { LruCache } from "../../base/data-structures/index.ts";

/** Maps scopes to integer keys. */
export class TaskOwnerScopeTable {
  #cachedKeys = createKeyCache();
  /** The most recent scope and its key, because consecutive appends often have the same caller. */
  #recent: { readonly scope: TaskScope; readonly key: number } | undefined;
  readonly #selectKey: SqlStatement;
  readonly #insertScope: SqlStatement;
  readonly #deleteUnusedScope: SqlStatement;

  constructor(db: SqlDatabase) {
    this.#selectKey = db.prepare("SELECT key FROM scope WHERE tenant = ? AND principal = ? AND agent = ?");
    this.#insertScope = db.prepare("INSERT INTO scope (tenant, principal, agent) VALUES (?, ?, ?)");
    this.#deleteUnusedScope = db.prepare(
      "DELETE FROM scope WHERE key = ? AND NOT EXISTS (SELECT 1 FROM task WHERE scope = ?)",
    );
  }

  /** Returns the key of a scope, or `undefined` if the database has no key for the scope. */
  findKey(scope: TaskScope): number | undefined {
    const recent = this.#recent;
    if (recent && isSameScope(recent.scope, scope)) return recent.key;
    const name = getScopeKey(scope);
    const cached = this.#cachedKeys.get(name);
    if (cached !== undefined) {
      this.#recent = { scope, key: cached };
      return cached;
    }
    const key = this.#selectKey.get(scope.tenant, scope.principal, scope.agent)?.["key"] as
      | number
      | undefined;
    if (key !== undefined) this.#cachedKeys.set(name, key);
    return key;
  }

  /**
   * Returns the key of a scope. If the database has no key for the scope, `findOrInsertKey` inserts the
   * scope. Call `findOrInsertKey` only within a transaction.
   */
  findOrInsertKey(scope: TaskScope): number {
    const known = this.findKey(scope);
    if (known !== undefined) return known;
    const key = Number(this.#insertScope.run(scope.tenant, scope.principal, scope.agent).lastInsertRowid);
    this.#cachedKeys.set(getScopeKey(scope), key);
    return key;
  }

  /**
   * Deletes a scope that has no tasks, and returns true if the scope was deleted. Call `deleteIfUnused` only
   * within a transaction.
   */
  deleteIfUnused(key: number, scope: TaskScope): boolean {
    if (this.#deleteUnusedScope.run(key, key).changes === 0) return false;
    this.#cachedKeys.delete(getScopeKey(scope));
    this.#recent = undefined;
    return true;
  }

  /**
   * Clears the cache. Call `clearCache` after a rollback, because cached keys may belong to rows that no
   * longer exist.
   */
  clearCache(): void {
    this.#cachedKeys = createKeyCache();
    this.#recent = undefined;
  }
}

function createKeyCache(): LruCache<number> {
  return new LruCache(10_000);
}
