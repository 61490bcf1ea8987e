// All entries but those behind which types of other packages stand (colloquy/adk and its like): theirs are not for us to check.
export * as front from "colloquy";
export * as auth from "colloquy/auth";
export * as cards from "colloquy/cards";
export * as client from "colloquy/client";
export * as openai from "colloquy/openai";
export * as testing from "colloquy/testing";
