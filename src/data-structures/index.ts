/** General-purpose data structures. They import no other folder, and every folder may use them. */
export { Bag, type BagItem } from "./bag.ts";
export { Deferred } from "./deferred.ts";
export { SlotMap } from "./slot-map.ts";
export { LruCache } from "./lru-cache.ts";
