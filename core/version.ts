/** Goes into the provenance of each diagnosis; a test holds it equal to package.json. */
export const ROOTSPAN_VERSION = '0.1.0';
