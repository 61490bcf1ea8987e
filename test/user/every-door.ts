// All doors but those behind which types of other packages stand (colloquy/adk and its like): theirs are not for us to check.
export * as front from "colloquy";
export * as adapters from "colloquy/adapters";
export * as auth from "colloquy/auth";
export * as cards from "colloquy/cards";
export * as client from "colloquy/client";
export * as config from "colloquy/config";
export * as engine from "colloquy/engine";
export * as experiments from "colloquy/experiments";
export * as openai from "colloquy/openai";
export * as protocol from "colloquy/protocol";
export * as roles from "colloquy/roles";
export * as server from "colloquy/server";
export * as stores from "colloquy/stores";
