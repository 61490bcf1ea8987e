/** The agent of the image. Replace it with your own agents: each file of the folder is one agent. */
import { agent } from "colloquy";

export default agent(
  { name: "hello", description: "Greets people by their name" },
  async function* ({ text }) {
    for (const word of ["Hello, ", text.trim(), "! ", "Nice ", "to ", "meet ", "you."]) yield word;
  },
);
