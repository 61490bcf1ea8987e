/**
 * Serves a Google ADK agent with a tool. The agent contains no A2A code. Without a Gemini key, it uses a
 * scripted model, which also calls the tool.
 *
 *     colloquy serve examples/02-adk-agent.ts
 *     colloquy send http://127.0.0.1:4120/a2a/weather "What is the weather in Seoul?"
 */
import { FunctionTool, LlmAgent } from "@google/adk";
import { ScriptedLlm } from "colloquy/adk";
import { z } from "zod";

const getWeather = new FunctionTool({
  name: "get_weather",
  description: "The weather in a city right now",
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, sky: "sunny", celsius: 21 }),
});

const scripted = new ScriptedLlm(({ text, results }) => {
  const weather = results[0]?.response as { city: string; sky: string; celsius: number } | undefined;
  if (weather) return `It is ${weather.sky} in ${weather.city}, ${weather.celsius} °C.`;
  return { call: "get_weather", args: { city: /in (\w+)/.exec(text)?.[1] ?? "Seoul" } };
});

export const rootAgent = new LlmAgent({
  name: "weather",
  description: "Tells the weather of any city",
  instruction: "Answer questions about the weather with get_weather.",
  model: process.env["GEMINI_API_KEY"] ? "gemini-2.5-flash" : scripted,
  tools: [getWeather],
});
