/** THE SCORES: whether an answer is right, by the rules that the datasets were published with. No substring counts. */
export { lastNumber, scoreGsm8k, strictAnswer } from "./gsm8k.ts";
export type { GsmRule, GsmScore } from "./gsm8k.ts";
export { normalizeAnswer, scoreHotpotAnswer, scoreJoint, scoreSupportingFacts } from "./hotpotqa.ts";
export type { Overlap } from "./hotpotqa.ts";
