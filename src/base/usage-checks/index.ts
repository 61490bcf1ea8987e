/**
 * CHECKS OF CALLS. The folder `usage-checks` explains mistakes in programs that call Colloquy, such as an unknown
 * option or a missing `await`.
 */
export { didYouMean } from "./did-you-mean.ts";
export { explainMissingAwait } from "./explain-missing-await.ts";
export { omitUndefined } from "./omit-undefined.ts";
export { defineOptionNames, pickOptions } from "./option-names.ts";
