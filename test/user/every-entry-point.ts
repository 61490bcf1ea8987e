// All entries except those whose types depend on other packages, such as colloquy/adk. The types of those
// packages are not checked here.
export * as front from "colloquy";
export * as auth from "colloquy/auth";
export * as cards from "colloquy/cards";
export * as claude from "colloquy/claude";
export * as client from "colloquy/client";
export * as console from "colloquy/console";
export * as openai from "colloquy/openai";
export * as testing from "colloquy/testing";
export * as durableObject from "colloquy/durable-object";
export * as trace from "colloquy/trace";
