import { FunctionTool, LlmAgent } from "@google/adk";
import { ScriptedLlm } from "colloquy/adk";
import { z } from "zod";

const getWeather = new FunctionTool({
  name: "get_weather",
  description: "The weather in a city right now",
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, sky: "sunny", celsius: 21 }),
});

/** Replaces the model until the environment contains GEMINI_API_KEY. */
const scripted = new ScriptedLlm(({ text, results }) => {
  const weather = results[0]?.response as { city: string; sky: string; celsius: number } | undefined;
  if (weather) return `It is ${weather.sky} in ${weather.city}, ${weather.celsius} °C.`;
  return { call: "get_weather", args: { city: /in (\w+)/.exec(text)?.[1] ?? "Seoul" } };
});

export const rootAgent = new LlmAgent({
  name: "__ADK_NAME__",
  description: "Tells the weather of any city",
  instruction: "Answer questions about the weather with get_weather.",
  model: process.env["GEMINI_API_KEY"] ? "gemini-2.5-flash" : scripted,
  tools: [getWeather],
});
