import { LruCache } from "../../data-structures/index.ts";

/** Creates a bounded cache of integer keys. A key that is not cached costs one lookup. */
export function createKeyCache(): LruCache<number> {
  return new LruCache(10_000);
}
