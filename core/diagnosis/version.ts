/** Version of the package, for provenance. A test holds it equal to package.json: core cannot read files. */
export const ROOTSPAN_VERSION = '0.1.0';
