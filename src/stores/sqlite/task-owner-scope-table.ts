import type { TaskScope } from "../../engine/index.ts";
import { LruCache } from "../../base/data-structures/index.ts";
import { getScopeKey, isSameScope } from "../task-owner-scope-key.ts";
import type { SqlStatements } from "./sql-database.ts";

/** Maps scopes to integer keys. */
export class TaskOwnerScopeTable {
  readonly #sql: SqlStatements;
  #cachedKeys = createKeyCache();
  /** The most recent scope and its key, because consecutive appends often have the same caller. */
  #recent: { readonly scope: TaskScope; readonly key: number } | undefined;

  constructor(sql: SqlStatements) {
    this.#sql = sql;
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
    const row = this.#sql.get<{ key: number }>(
      "SELECT key FROM scope WHERE tenant = ? AND principal = ? AND agent = ?",
      scope.tenant,
      scope.principal,
      scope.agent,
    );
    if (row) this.#cachedKeys.set(name, row.key);
    return row?.key;
  }

  /**
   * Returns the key of a scope. If the database has no key for the scope, `findOrInsertKey` inserts the
   * scope. Call `findOrInsertKey` only within a transaction.
   */
  findOrInsertKey(scope: TaskScope): number {
    const known = this.findKey(scope);
    if (known !== undefined) return known;
    const { tenant, principal, agent } = scope;
    const inserted = this.#sql.run(
      "INSERT INTO scope (tenant, principal, agent) VALUES (?, ?, ?)",
      tenant,
      principal,
      agent,
    );
    const key = Number(inserted.lastInsertRowid);
    this.#cachedKeys.set(getScopeKey(scope), key);
    return key;
  }

  /**
   * Deletes a scope that has no tasks, and returns true if the scope was deleted. Call `deleteIfUnused` only
   * within a transaction.
   */
  deleteIfUnused(key: number, scope: TaskScope): boolean {
    const { changes } = this.#sql.run(
      "DELETE FROM scope WHERE key = ? AND NOT EXISTS (SELECT 1 FROM task WHERE scope = ?)",
      key,
      key,
    );
    if (changes === 0) return false;
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
