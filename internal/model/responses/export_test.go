package responses

var ObjectSchema = objectSchema
