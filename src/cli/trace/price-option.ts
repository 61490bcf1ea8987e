import { Option } from "commander";

/** The option of the commands that show the costs of model calls. */
export interface PriceOption {
  /** Path of a price file, which `readModelPrices` reads. */
  prices?: string;
}

export function createPriceOption(): Option {
  return new Option(
    "--prices <file>",
    "JSON file with the prices of language models, to show the costs of tasks",
  );
}
