/**
 * General-purpose data structures. The folder `data-structures` imports no other folder, and every folder
 * may import `data-structures`.
 */
export { Bag, type BagItem } from "./bag.ts";
export { Deferred } from "./deferred.ts";
export { SlotMap } from "./slot-map.ts";
export { LruCache } from "./lru-cache.ts";
