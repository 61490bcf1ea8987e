import { z } from "zod";

/** The tool that agents of several frameworks call in tests. It refuses a negative `a` with the error `negative`. */
export const calculatorTool: {
  readonly name: "add";
  readonly description: string;
  readonly parameters: z.ZodObject<{ a: z.ZodNumber; b: z.ZodNumber }>;
  readonly execute: (input: { readonly a: number; readonly b: number }) => { sum: number };
} = {
  name: "add",
  description: "Adds",
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => {
    if (a < 0) throw new Error("negative");
    return { sum: a + b };
  },
};
