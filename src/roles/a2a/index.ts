/**
 * ROLES OVER A2A. A card arrives as a message and begins a task; the role works on it from its desk, from where it sends
 * cards to other roles, and the task ends with its reply:
 *
 *   message ─▶ role-agent.ts: card? for this role? ─▶ desk.ts: role.work ─▶ errand.ts ─▶ another role
 *                    ▲  sitting.ts: what is said, over turns    │  spending.ts: on which card it is
 *                    └──── voice.ts: card ─▶ A2A event ◀────────┘  correspondence.ts: written, recorded, relayed
 */
export type { AnyCardProtocol, RoleRuntimeOptions } from "./role-runtime.ts";
export type { RoleConnectionOptions, RoleTarget } from "./role-client-pool.ts";
export { createRoleAgent, type RoleAgentOptions } from "./role-agent.ts";
