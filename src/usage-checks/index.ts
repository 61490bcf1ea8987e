/**
 * CHECKS OF CALLS. The folder `usage-checks` explains mistakes in programs that call Colloquy, such as an unknown
 * option or a missing `await`.
 */
export { didYouMean, defineOptionNames, pickOptions } from "./option-names.ts";
export { explainMissingAwait } from "./explain-missing-await.ts";
