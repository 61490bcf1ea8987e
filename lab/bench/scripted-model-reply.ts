import { buildExpectedText, type BenchmarkJob } from "./benchmark-job.ts";

/** Reply of the scripted model of the ADK rows: 50 partial events, followed by the complete text. */
export const JOB_DEFINING_SCRIPTED_MODEL_REPLY: BenchmarkJob = { kind: "turns", count: 50 };
export const SCRIPTED_MODEL_REPLY_TEXT: string = buildExpectedText(JOB_DEFINING_SCRIPTED_MODEL_REPLY.count);
