import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { TaskScope } from "../../engine/index.ts";
import { getScopeKey } from "../scope-key.ts";

/** Emptied when it is full: what is needed again costs one lookup. */
const MAX_CACHED_KEYS = 10_000;

/** The integer keys of scopes. */
export class ScopeTable {
  readonly #cachedKeys = new Map<string, number>();
  readonly #selectKey: StatementSync;
  readonly #insertScope: StatementSync;

  constructor(db: DatabaseSync) {
    this.#selectKey = db.prepare("SELECT key FROM scope WHERE tenant = ? AND principal = ? AND agent = ?");
    this.#insertScope = db.prepare("INSERT INTO scope (tenant, principal, agent) VALUES (?, ?, ?)");
  }

  /** Undefined for a scope that owns nothing yet. */
  findKey(scope: TaskScope): number | undefined {
    const name = getScopeKey(scope);
    const cached = this.#cachedKeys.get(name);
    if (cached !== undefined) return cached;
    const key = this.#selectKey.get(scope.tenant, scope.principal, scope.agent)?.["key"] as
      | number
      | undefined;
    if (key !== undefined) this.#cacheKey(name, key);
    return key;
  }

  /** Only within a transaction. */
  findOrInsertKey(scope: TaskScope): number {
    const known = this.findKey(scope);
    if (known !== undefined) return known;
    const key = Number(this.#insertScope.run(scope.tenant, scope.principal, scope.agent).lastInsertRowid);
    this.#cacheKey(getScopeKey(scope), key);
    return key;
  }

  /** To be called after a rollback: keys may have been given to rows that are gone. */
  clearCache(): void {
    this.#cachedKeys.clear();
  }

  #cacheKey(name: string, key: number): void {
    if (this.#cachedKeys.size >= MAX_CACHED_KEYS) this.#cachedKeys.clear();
    this.#cachedKeys.set(name, key);
  }
}
