import type { Guard } from "./guard.ts";

/** The guards of the server and of the client. `npm run hostile -- --guards` removes each one in turn. */
export const GUARDS: readonly Guard[] = [];
