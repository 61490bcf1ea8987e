import { wholeText, type Job } from "./job.ts";

/** What the scripted model of the ADK rows says: 50 partials, then the whole. */
export const SCRIPT: Job = { kind: "turns", count: 50 };
export const SCRIPT_TEXT: string = wholeText(SCRIPT.count);
