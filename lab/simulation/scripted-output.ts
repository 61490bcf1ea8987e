/** One piece of output of the scripted agent. */
export interface ScriptOutput {
  readonly messageId: string;
  readonly attempt: number;
  /** Position in the output of the turn, from 0. */
  readonly position: number;
}

export function writeScriptOutput({ messageId, attempt, position }: ScriptOutput): string {
  return `${messageId}/${attempt}/${position};`;
}

/** Reads the pieces of a text, which the engine may have merged. */
export function readScriptOutput(text: string): ScriptOutput[] {
  return text
    .split(";")
    .filter((piece) => piece !== "")
    .map((piece) => {
      const [messageId = "", attempt, position] = piece.split("/");
      return { messageId, attempt: Number(attempt), position: Number(position) };
    });
}
