import { readTrafficFile } from "../../observe/trace/recording/index.ts";
import type { CliContext } from "../cli-context.ts";
import { createNoTrafficError, createUnreadableFileError } from "../trace/load-traffic-record.ts";

/**
 * Refuses a file that is not a traffic record. Reads the file up to its first traffic line. The writer of an empty file
 * may still add lines, so that an empty file only causes a warning.
 */
export async function checkRecordFile(file: string, { streams }: Pick<CliContext, "streams">): Promise<void> {
  let isEmpty = true;
  try {
    for await (const { type } of readTrafficFile(file)) {
      if (type === "traffic") return;
      isEmpty = false;
    }
  } catch (cause) {
    throw createUnreadableFileError(file, cause);
  }
  if (!isEmpty) throw createNoTrafficError([file]);
  streams.err(`warning: ${file} is empty. The console reads the file once, when its page is opened.\n`);
}
