/**
 * Functions that extract answers from replies and score them. HotpotQA's measures follow its published script.
 * No scorer accepts substring matches.
 */
export * from "./score-answer.ts";
