import { BOUNDARY_GUARDS } from "./boundary-guards.ts";
import { CLIENT_GUARDS } from "./client-guards.ts";
import { CONSOLE_GUARDS } from "./console-guards.ts";
import { CONTEXT_SCOPE_GUARDS } from "./context-scope-guards.ts";
import { GRPC_GUARDS } from "./grpc-guards.ts";
import type { Guard } from "./guard.ts";
import { PAGE_GUARDS } from "./page-guards.ts";
import { PUSH_GUARDS } from "./push-guards.ts";
import { SERVER_GUARDS } from "./server-guards.ts";

/** All named guards. `npm run lab -- hostile --guards` removes each one in turn. */
export const GUARDS: readonly Guard[] = [
  ...SERVER_GUARDS,
  ...GRPC_GUARDS,
  ...PUSH_GUARDS,
  ...BOUNDARY_GUARDS,
  ...CLIENT_GUARDS,
  ...CONTEXT_SCOPE_GUARDS,
  ...CONSOLE_GUARDS,
  ...PAGE_GUARDS,
];
