/**
 * General-purpose data structures. The folder `data-structures` imports no other folder, and every folder
 * may import `data-structures`.
 */
export { Quota, type QuotaRefusal } from "./quota.ts";
export { FairTurnQueue } from "./fair-turn-queue.ts";
export { TokenBuckets, type TokenBucketsOptions } from "./token-buckets.ts";
export { SwapRemoveSet, type SwapRemoveSetItem } from "./swap-remove-set.ts";
export { Deferred } from "./deferred.ts";
export { SlotReuseMap } from "./slot-reuse-map.ts";
export { HiddenProperty } from "./hidden-property.ts";
export { LruCache } from "./lru-cache.ts";
export { OrderedQueue } from "./ordered-queue.ts";
export { SortedList } from "./sorted-list.ts";
export { CallKeyGenerator } from "./call-key-generator.ts";
export { DurableCall, type StepExecutor } from "./durable-call.ts";
export { decodeTypedJson, encodeTypedJson } from "./typed-json.ts";
export { countUtf8Bytes } from "./count-utf8-bytes.ts";
export { computeSha256Hex } from "./sha-256.ts";
export { isSameSecret } from "./is-same-secret.ts";
