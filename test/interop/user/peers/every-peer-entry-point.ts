// The entries whose types depend on other packages. test/interop/user/every-entry-point.ts has the other entries.
export * as a2aJs from "colloquy/a2a-js";
export * as adk from "colloquy/adk";
export * as aiSdk from "colloquy/ai-sdk";
export * as mcp from "colloquy/mcp";
export * as uiAiSdk from "colloquy/ui/ai-sdk";
