/**
 * Roles over A2A. An incoming message contains a card and starts a task. The role performs the task through a
 * `TaskContext`, which sends cards to other roles. The task ends with the reply of the role.
 *
 *     message ─▶ role-agent.ts ─▶ role-execution.ts ─▶ card-delivery.ts ─▶ other role
 *                  ▲                     │
 *                  └─ reply-encoder.ts ◀─┘
 *
 * - `role-agent.ts` validates the card, and `role-execution.ts` runs the role.
 * - `resumable-work.ts` keeps the work over several turns, and `usage-tracker.ts` assigns usage to cards.
 * - `card-journal.ts` creates, records, and relays cards. `reply-encoder.ts` turns cards into A2A events.
 */
export type { AnyCardProtocol, RoleRuntimeOptions } from "./role-runtime.ts";
export type { RoleConnectionOptions, RoleTarget } from "./role-client-pool.ts";
export { createRoleAgent, type RoleAgentOptions } from "./role-agent.ts";
