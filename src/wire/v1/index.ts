/** A2A 1.0: its JSON, its methods and its routes. */
export { checkCard } from "./check-card.ts";
export type { CanonicalCard } from "./card-canonical.ts";
export { canonicalCard } from "./card-canonical.ts";
export { decodeCard, decodeParams, decodeResult, isOperation } from "./decode.ts";
export { jsonRpc, proto, rest } from "./dialects.ts";
