/**
 * Defines a complete A2A agent as a plain async generator.
 *
 *     colloquy serve examples/01-hello.ts
 *     colloquy send http://127.0.0.1:4120/a2a/hello --stream "Ada"
 */
import { agent, inputRequired, status } from "colloquy";

export default agent(
  { name: "hello", description: "Greets people by their name" },
  async function* ({ text }) {
    const name = text.trim();
    if (name === "") yield inputRequired("What is your name?");
    yield status("Thinking of a greeting…");
    for (const word of ["Hello, ", name, "! ", "Nice ", "to ", "meet ", "you."]) yield word;
  },
);
