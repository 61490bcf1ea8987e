/**
 * Roles over A2A. A role agent starts a task when it receives an A2A message with a message card. The role
 * performs the task through a `TaskContext`, which sends message cards to other roles. The role's reply ends
 * the task.
 *
 * ```
 * message ─▶ role-agent.ts ─▶ role-execution.ts ─▶ card-delivery.ts ─▶ other role
 *              ▲                     │
 *              └─ card-event-encoder.ts ◀─┘
 * ```
 *
 * - `role-agent.ts` validates the message card, and `role-execution.ts` runs the role.
 * - `durable-turn.ts` stores finished calls between attempts and turns. `model-caller.ts` calls the model, and
 *   `usage-tracker.ts` assigns the token usage of each model call to a message card.
 * - `card-journal.ts` creates, records, and relays message cards. `card-event-encoder.ts` encodes message cards as
 *   A2A events.
 */
export type { AnyCardProtocol, RoleTarget } from "./role-runtime.ts";
export { createRoleAgent, type RoleAgentOptions } from "./role-agent.ts";
