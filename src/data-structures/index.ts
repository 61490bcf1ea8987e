/** Tools without a subject: they know no agent, no task and no protocol. Every room may use them; they use nothing. */
export { Bag, type BagItem } from "./bag.ts";
export { Deferred } from "./deferred.ts";
export { SlotMap } from "./slot-map.ts";
export { LruCache } from "./lru-cache.ts";
