/**
 * The canonical JSON of agent cards, which their signatures cover. This folder is separate from `v1`, so that servers
 * without signing keys do not load the library for canonical JSON.
 */
export { canonicalizeCard } from "./canonical-card.ts";
