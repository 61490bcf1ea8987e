// All entries except those whose types depend on other packages, such as colloquy/adk. The types of those
// packages are not checked here.
export * as front from "colloquy";
export * as agUi from "colloquy/ag-ui";
export * as auth from "colloquy/auth";
export * as cards from "colloquy/cards";
export * as claude from "colloquy/claude";
export * as client from "colloquy/client";
export * as console from "colloquy/console";
export * as durableObject from "colloquy/durable-object";
export * as grpc from "colloquy/grpc";
export * as langgraph from "colloquy/langgraph";
export * as mastra from "colloquy/mastra";
export * as openai from "colloquy/openai";
export * as testing from "colloquy/testing";
export * as trace from "colloquy/trace";
export * as ui from "colloquy/ui";
export * as uiReact from "colloquy/ui/react";
