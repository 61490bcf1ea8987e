import type { Caller } from "../../src/engine/index.ts";

export const ALICE: Caller = { tenant: "", principal: "alice" };
export const BOB: Caller = { tenant: "", principal: "bob" };
