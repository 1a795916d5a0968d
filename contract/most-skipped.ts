/** How deep an offset goes into a list of machines: PostgreSQL reads the skipped rows as well. */
export const mostSkipped = 10_000;

/** The same in the machines of one customer. */
export const mostSkippedOfCustomer = 100_000;
