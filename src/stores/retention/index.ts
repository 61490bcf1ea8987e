/**
 * RETENTION. The `RetentionService` deletes the tasks and events whose retention period has passed, with a clock that
 * does not trust jumps of the system clock, and deletes the tasks that an operator erases.
 */
export { assertValidRetentionOptions } from "./retention-policy.ts";
export type { RetentionOptions, RetentionPeriods } from "./retention-policy.ts";
export { RetentionService } from "./retention-service.ts";
