/** For `colloquy serve` in this folder: the agent under the name that it has in the guide. */
import { defineConfig } from "colloquy";
import { agent } from "./agent.ts";

export default defineConfig({ agents: { "research-assistant": agent } });
