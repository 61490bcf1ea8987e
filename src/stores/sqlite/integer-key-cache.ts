import { LruCache } from "../../data-structures/index.ts";

/**
 * Creates a bounded cache of integer keys. If the cache does not contain a key, the store looks up the key
 * in the database.
 */
export function createIntegerKeyCache(): LruCache<number> {
  return new LruCache(10_000);
}
