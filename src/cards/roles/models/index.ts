/**
 * Models of roles: language models of the AI SDK, and deterministic models for tests and baselines, including scripted and
 * deliberately faulty models. A cassette records and replays the replies of a language model.
 */
export * from "./ai-sdk-model.ts";
export * from "./cassette-model.ts";
export * from "./faulty-model.ts";
export * from "./oracle-model.ts";
export * from "./request-limit.ts";
export * from "./scripted-model.ts";
