import { createHash } from "node:crypto";
import type { TaskScope } from "../../engine/index.ts";
import { LruCache } from "../../base/data-structures/index.ts";
import { getScopeKey } from "../task-owner-scope-key.ts";

const cachedKeys = new LruCache<string>(10_000);

/**
 * Computes the key of a scope, a UUID from the first 128 bits of a SHA-256 hash. Every node computes the same key, so
 * the nodes need no table of scopes and no lookup.
 */
export function computeScopeKey(scope: TaskScope): string {
  const name = getScopeKey(scope);
  let key = cachedKeys.get(name);
  if (key === undefined) {
    // UTF-16 is different for different strings, even for strings with one half of a surrogate pair.
    const hex = createHash("sha256").update(name, "utf16le").digest("hex");
    key = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
    cachedKeys.set(name, key);
  }
  return key;
}
