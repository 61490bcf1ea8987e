import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Scope } from "../../engine/index.ts";
import { scopeKey } from "../scope-key.ts";

/** Emptied when it is full: what is needed again costs one lookup. */
const MAX_CACHED = 10_000;

/** The integer keys of scopes. */
export class Scopes {
  readonly #keys = new Map<string, number>();
  readonly #select: StatementSync;
  readonly #insert: StatementSync;

  constructor(db: DatabaseSync) {
    this.#select = db.prepare("SELECT key FROM scope WHERE tenant = ? AND principal = ? AND agent = ?");
    this.#insert = db.prepare("INSERT INTO scope (tenant, principal, agent) VALUES (?, ?, ?)");
  }

  /** Undefined for a scope that owns nothing yet. */
  find(scope: Scope): number | undefined {
    const name = scopeKey(scope);
    const cached = this.#keys.get(name);
    if (cached !== undefined) return cached;
    const key = this.#select.get(scope.tenant, scope.principal, scope.agent)?.["key"] as number | undefined;
    if (key !== undefined) this.#keep(name, key);
    return key;
  }

  /** Only within a transaction. */
  findOrAdd(scope: Scope): number {
    const known = this.find(scope);
    if (known !== undefined) return known;
    const key = Number(this.#insert.run(scope.tenant, scope.principal, scope.agent).lastInsertRowid);
    this.#keep(scopeKey(scope), key);
    return key;
  }

  /** To be called after a rollback: keys may have been given to rows that are gone. */
  forget(): void {
    this.#keys.clear();
  }

  #keep(name: string, key: number): void {
    if (this.#keys.size >= MAX_CACHED) this.#keys.clear();
    this.#keys.set(name, key);
  }
}
