import { buildExpectedText, type BenchmarkJob } from "./job.ts";

/** What the scripted model of the ADK rows says: 50 partials, then the whole. */
export const SCRIPTED_JOB: BenchmarkJob = { kind: "turns", count: 50 };
export const SCRIPTED_TEXT: string = buildExpectedText(SCRIPTED_JOB.count);
