/** General-purpose data structures. This folder imports no other folder, and every folder may import it. */
export { Bag, type BagItem } from "./bag.ts";
export { Deferred } from "./deferred.ts";
export { SlotMap } from "./slot-map.ts";
export { LruCache } from "./lru-cache.ts";
