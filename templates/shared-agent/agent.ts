import { agent, status } from "colloquy";

const ANSWER =
  "Each word of this answer is an event, which the server stores before your browser shows it. " +
  "Reload the page now: the answer continues where it was, and no word is missing or repeated. " +
  "Replace this function with calls of your model.";

/** Each yielded value reaches the caller at once. A thrown error fails the task. */
export default agent(
  { name: "__NAME__", description: "Answers slowly, word by word" },
  async function* ({ text, signal }) {
    yield status("Thinking…");
    for (const word of `You said “${text}”. ${ANSWER}`.split(/(?<= )/)) {
      signal.throwIfAborted();
      yield word;
      await new Promise((resolve) => setTimeout(resolve, 80));
    }
  },
);
