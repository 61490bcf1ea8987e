import { buildExpectedText, type BenchmarkJob } from "./job.ts";

/** Reply of the scripted model of the ADK rows: 50 partial events, followed by the complete text. */
export const SCRIPTED_JOB: BenchmarkJob = { kind: "turns", count: 50 };
export const SCRIPTED_TEXT: string = buildExpectedText(SCRIPTED_JOB.count);
